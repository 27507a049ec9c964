module.exports = []
