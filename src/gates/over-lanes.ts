/** Maps items in order of taking, one at a time per lane. */
export async function overLanes<T, R>(lanes: number, items: readonly T[], work: (item: T, lane: number) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(items.length);
  const queue = items.entries();
  const worker = async (lane: number): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item, lane);
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => worker(lane)));
  return results;
}
