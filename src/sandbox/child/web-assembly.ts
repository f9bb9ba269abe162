/** The parts of the WebAssembly API the gate uses (TypeScript declares it only together with the DOM). */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow: (pages: number) => number;
}

export interface WasmGlobal {
  value: number;
}

export interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>;
}

export type WasmImports = Record<string, Record<string, unknown>>;

/** A compiled module. */
export type WasmModule = object;

export interface WasmApi {
  instantiate: (source: Uint8Array, imports?: WasmImports) => Promise<{ readonly instance: WasmInstance }>;
  readonly Module: {
    new (source: Uint8Array): WasmModule;
    imports(module: WasmModule): readonly { readonly module: string; readonly name: string; readonly kind: string }[];
  };
  readonly Instance: new (module: WasmModule, imports: WasmImports) => WasmInstance;
}

/** The global `WebAssembly` object. */
export const wasm = (globalThis as unknown as { WebAssembly: WasmApi }).WebAssembly;
