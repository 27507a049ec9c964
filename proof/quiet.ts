// Read by telemetry when it is loaded: a hundred thousand runs would write millions of lines.
process.env.POWERTOOLS_LOG_LEVEL = 'SILENT'
process.env.POWERTOOLS_METRICS_DISABLED = 'true'
