/** Length-prefixed JSON frames: four bytes little-endian, then UTF-8. */
export function encodeFrame(value: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(value), "utf8");
  const frame = Buffer.allocUnsafe(4 + body.length);
  frame.writeUInt32LE(body.length, 0);
  body.copy(frame, 4);
  return frame;
}

/** Collects bytes and yields whole frames; keeps what is left for the next call. */
export class FrameReader {
  private readonly chunks: Buffer[] = [];
  private size = 0;
  private readonly maxFrameBytes: number;

  constructor(maxFrameBytes: number) {
    this.maxFrameBytes = maxFrameBytes;
  }

  /** Adds bytes; returns the frames they complete. @throws RangeError on a frame above the limit, SyntaxError on bad JSON. */
  push(chunk: Buffer): unknown[] {
    this.chunks.push(chunk);
    this.size += chunk.length;
    const frames: unknown[] = [];
    for (let frame = this.next(); frame !== undefined; frame = this.next()) frames.push(JSON.parse(frame.toString("utf8")));
    return frames;
  }

  private next(): Buffer | undefined {
    if (this.size < 4) return undefined;
    const head = this.join(4);
    const length = head.readUInt32LE(0);
    if (length > this.maxFrameBytes) throw new RangeError(`a frame of ${length} bytes is above the limit of ${this.maxFrameBytes}`);
    if (this.size < 4 + length) return undefined;
    const all = this.join(4 + length);
    this.chunks[0] = all.subarray(4 + length);
    this.size -= 4 + length;
    return all.subarray(4, 4 + length);
  }

  /** Makes the first chunk hold at least `bytes` bytes; the caller knows they are there. */
  private join(bytes: number): Buffer {
    const first = this.chunks[0] ?? Buffer.alloc(0);
    if (first.length >= bytes) return first;
    const all = Buffer.concat(this.chunks);
    this.chunks.length = 0;
    this.chunks.push(all);
    return all;
  }
}
