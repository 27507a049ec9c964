// Neither needs the other's, and loading them takes longer than all the rest.
module.exports = () =>
  process.argv.includes('offline') ? ['./local/plugin.ts', 'serverless-offline'] : ['serverless-esbuild']
