// Loads stores.yml as a checked constant, so that a function starts without a YAML parser and a mistake in
// the file stops the deployment, not an order.
module.exports = [
  {
    name: 'stores.yml',
    setup(build) {
      build.onLoad({ filter: /stores\.yml$/ }, async ({ path }) => {
        const { readStores } = await import('./stores.ts')
        return { contents: JSON.stringify(readStores(path)), loader: 'json', watchFiles: [path] }
      })
    },
  },
]
