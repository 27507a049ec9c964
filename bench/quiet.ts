// Read by telemetry when it is loaded, so this is imported before it.
process.env.TELEMETRY = 'off'
