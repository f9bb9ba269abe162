import { expect, it } from "vitest";
import { eventData } from "./sse.ts";

it.each<[string, string, readonly string[]]>([
  ["one event each", "data: a\n\ndata: b\n\n", ["a", "b"]],
  ["any line end", "data: a\r\n\r\ndata: b\r\rdata: c\n\n", ["a", "b", "c"]],
  ["keep-alive comments and other fields", ": keep-alive\n\nevent: message\nid: 1\ndata: a\nretry: 5\n\n:\n\n", ["a"]],
  ["several lines", "data: a\ndata: b\n\n", ["a\nb"]],
  ["no space, two spaces, nothing", "data:a\n\ndata:  b\n\ndata\n\n", ["a", " b", ""]],
  ["no blank line at the end", "data: a\n\ndata: b", ["a", "b"]],
  ["a byte order mark", "\uFEFFdata: a\n\n", ["a"]],
  ["fields that only begin alike", "database: a\n\n", []],
  ["nothing", "", []],
])("reads %s", (_name, stream, events) => {
  expect(eventData(stream)).toEqual(events);
});
