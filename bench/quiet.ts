// Read by telemetry when it is loaded, so this is imported before it.
process.env.POWERTOOLS_LOG_LEVEL = 'SILENT'
process.env.POWERTOOLS_METRICS_DISABLED = 'true'
