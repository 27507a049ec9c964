/** Node's HTTP modules, with agents that keep connections open. */
export const keptAgents = () => {
  // Importing node:http as an ES module reads every export, and its WebSocket loads undici: some 50 ms.
  const [http, https] = [process.getBuiltinModule('node:http'), process.getBuiltinModule('node:https')]
  const kept = { keepAlive: true, maxSockets: 50 }
  return { http, https, httpAgent: new http.Agent(kept), httpsAgent: new https.Agent(kept) }
}
