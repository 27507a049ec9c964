/** Several lists, each in order, as one in order. Reads them in parallel and holds one element of each. */
export async function* merged<Each>(
  lists: readonly AsyncIterator<Each>[],
  isBefore: (a: Each, b: Each) => boolean,
): AsyncGenerator<Each> {
  const heads = new Map<AsyncIterator<Each>, Each>()
  const advance = async (list: AsyncIterator<Each>) => {
    const { done, value } = await list.next()
    if (done) heads.delete(list)
    else heads.set(list, value)
  }
  await Promise.all(lists.map(advance))
  for (;;) {
    let [next] = heads
    for (const head of heads) if (next === undefined || isBefore(head[1], next[1])) next = head
    if (next === undefined) return
    yield next[1]
    await advance(next[0])
  }
}
