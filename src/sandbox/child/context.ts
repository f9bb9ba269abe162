/** What has a state: guest memory and a stack pointer. */
export interface StateHolder {
  bytes(): Uint8Array;
  /** Grows memory to at least `bytes`. */
  ensureBytes(bytes: number): void;
  stackPointer: number;
}

/** Bytes of a page of guest memory, as states are kept. */
export const pageBytes = 4096;
const blockPages = 16;

/** The state of an interpreter as the pages in which it differs from the base image, and its stack pointer. */
export interface Context {
  /** Page numbers, ascending. */
  readonly pages: Uint32Array;
  /** Their contents, in the same order. */
  readonly data: Uint8Array;
  readonly stackPointer: number;
}

/** Saves and restores the whole state of an interpreter relative to a base: the state it was in when this was made, or the given one. */
export class ContextStore {
  private readonly interpreter: StateHolder;
  private readonly base: Buffer;
  private readonly baseStackPointer: number;
  private readonly zeros = Buffer.alloc(pageBytes * blockPages);

  constructor(interpreter: StateHolder, base: Buffer = Buffer.from(interpreter.bytes())) {
    this.interpreter = interpreter;
    this.base = base;
    this.baseStackPointer = interpreter.stackPointer;
  }

  /** The base state. */
  get empty(): Context {
    return { pages: new Uint32Array(0), data: new Uint8Array(0), stackPointer: this.baseStackPointer };
  }

  save(): Context {
    const memory = this.memory();
    const pages = this.dirtyPages(memory);
    const data = Buffer.allocUnsafeSlow(pages.length * pageBytes);
    pages.forEach((page, i) => memory.copy(data, i * pageBytes, page * pageBytes, (page + 1) * pageBytes));
    return { pages, data, stackPointer: this.interpreter.stackPointer };
  }

  /** Puts the interpreter exactly into a saved state, whatever state it is in. `dirty` are the pages known to differ from the base. */
  restore(context: Context, dirty?: Uint32Array): void {
    this.interpreter.ensureBytes(((context.pages.at(-1) ?? -1) + 1) * pageBytes);
    const memory = this.memory();
    for (const page of dirty ?? this.dirtyPages(memory)) this.resetPage(memory, page);
    context.pages.forEach((page, i) => memory.set(context.data.subarray(i * pageBytes, (i + 1) * pageBytes), page * pageBytes));
    this.interpreter.stackPointer = context.stackPointer;
  }

  /** Contents of a page of the base state. */
  basePage(page: number): Uint8Array {
    const start = page * pageBytes;
    return start < this.base.length ? this.base.subarray(start, start + pageBytes) : this.zeros.subarray(0, pageBytes);
  }

  private memory(): Buffer {
    const bytes = this.interpreter.bytes();
    return Buffer.from(bytes.buffer, 0, bytes.length);
  }

  private resetPage(memory: Buffer, page: number): void {
    const start = page * pageBytes;
    memory.set(this.basePage(page), start);
  }

  /** Compares in blocks first: most of memory is as it was. Memory above the base image is zero in the base. */
  private dirtyPages(memory: Buffer): Uint32Array {
    const dirty: number[] = [];
    const blockBytes = pageBytes * blockPages;
    for (let block = 0; block < memory.length; block += blockBytes) {
      if (this.isClean(memory, block, Math.min(block + blockBytes, memory.length))) continue;
      for (let start = block; start < block + blockBytes && start < memory.length; start += pageBytes) {
        if (!this.isClean(memory, start, start + pageBytes)) dirty.push(start / pageBytes);
      }
    }
    return Uint32Array.from(dirty);
  }

  private isClean(memory: Buffer, start: number, end: number): boolean {
    if (start >= this.base.length) return memory.compare(this.zeros, 0, end - start, start, end) === 0;
    return memory.compare(this.base, start, end, start, end) === 0;
  }
}
