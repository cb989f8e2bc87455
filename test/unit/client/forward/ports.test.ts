import { expect, test } from "bun:test";
import { readPortPair } from "../../../../src/client/forward/ports.ts";

test.each([
  ["5432", { local: 5432, remote: 5432 }],
  ["15432:5432", { local: 15432, remote: 5432 }],
  [":80", { local: 0, remote: 80 }],
  ["0:80", { local: 0, remote: 80 }],
])("%s", (text, pair) => {
  expect(readPortPair(text)).toEqual(pair);
});

test.each([[""], ["0"], ["70000"], ["a:1"], ["1:"], ["1:0"], ["1:2:3"], ["-1"], ["1.5"]])(
  "%p is not a port",
  (text) => {
    expect(() => readPortPair(text)).toThrow(`"${text}" is not a port`);
  },
);
