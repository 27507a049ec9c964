// `serverless offline` without --stage is the local stack, anything else is production: so the plain
// commands of the README do what a person means by them.
module.exports = () => (process.argv.includes('offline') ? 'local' : 'production')
