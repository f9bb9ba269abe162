import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeFrame, FrameReader } from "./frames.ts";

test("frames survive any split into chunks", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { maxLength: 8 }), fc.array(fc.integer({ min: 1, max: 40 })), (values, cuts) => {
      const bytes = Buffer.concat(values.map((value) => encodeFrame(value)));
      const reader = new FrameReader(1 << 20);
      const seen: unknown[] = [];
      let offset = 0;
      for (const cut of [...cuts, bytes.length]) {
        if (offset >= bytes.length) break;
        seen.push(...reader.push(bytes.subarray(offset, offset + cut)));
        offset += cut;
      }
      expect(seen).toEqual(values.map((value) => JSON.parse(JSON.stringify(value)) as unknown));
    }),
  );
});

test("a frame above the limit is refused before it is collected", () => {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(5000);
  expect(() => new FrameReader(4096).push(head)).toThrow(RangeError);
});
