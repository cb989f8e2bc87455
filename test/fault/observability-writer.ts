import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { observed } from "../support/observed-root.ts";

/**
 * The process that observability-kill.test.ts kills: samples, and lines of a pod that are captured, for ever. It prints
 * one line for each sample that was recorded, and for each line of the pod that is stored.
 */
const [root = "", first = "0"] = process.argv.slice(2);
const { archive, capture, now, series, clockTo } = observed(root);
const path = join(root, "pod-json.log");

let written = readFileSync(path, "utf8").split("\n").length - 1;

for (let n = Number(first); ; n++) {
  clockTo(n);
  archive.record(
    now(),
    series.map((one) => ({ series: one, value: n })),
  );
  console.log(`sample ${n}`);
  const time = new Date(now()).toISOString();
  const entries = Array.from({ length: 20 }, (_, line) => ({
    log: `line ${written + line}\n`,
    stream: "stdout",
    time,
  }));
  appendFileSync(path, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  written += entries.length;
  // Every third time the lines are put on disk; the others are read, and wait for their block.
  if (n % 3 === 0) {
    capture.drain("pod");
    console.log(`stored ${written - 1}`);
  } else while (capture.turn());
  if (n % 100 === 99) await archive.tend();
}
