// Each loads only what its commands need: loading takes longer than all the rest.
module.exports = () =>
  process.argv.includes('offline') ? ['./local/plugin.ts', 'serverless-offline'] : ['./deploy/package.ts']
