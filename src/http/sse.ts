/**
 * Data of the events in a whole event stream, in order. Any line ends, comments (keep-alive) and fields other than `data` are taken as
 * the standard has them; an event that the stream ends in, without a blank line, counts too.
 */
export function eventData(stream: string): readonly string[] {
  const events: string[] = [];
  let data: string[] = [];
  for (const line of [...stream.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/), ""]) {
    if (line === "") {
      if (data.length > 0) events.push(data.join("\n"));
      data = [];
    }
    const field = /^data(?:: ?(.*))?$/.exec(line);
    if (field !== null) data.push(field[1] ?? "");
  }
  return events;
}
