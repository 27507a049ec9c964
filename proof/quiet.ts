// Read by telemetry when it is loaded: a hundred thousand runs would write millions of lines.
process.env.TELEMETRY = 'off'
