/** Node's HTTP modules, with keep-alive agents. */
export const keptAgents = () => {
  // An ES module import of node:http reads every export, and WebSocket loads undici: about 50 ms.
  const [http, https] = [process.getBuiltinModule('node:http'), process.getBuiltinModule('node:https')]
  const kept = { keepAlive: true, maxSockets: 50 }
  return { http, https, httpAgent: new http.Agent(kept), httpsAgent: new https.Agent(kept) }
}
