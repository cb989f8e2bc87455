/** Powers of the suffixes, largest first, so that formatting finds the shortest text. */
const binary = { Ti: 1024 ** 4, Gi: 1024 ** 3, Mi: 1024 ** 2, Ki: 1024 } as const;
const decimal = { T: 1e12, G: 1e9, M: 1e6, K: 1e3 } as const;
const suffixes: Record<string, number> = { ...binary, ...decimal, "": 1 };

const cpuPattern = /^(\d{1,9}(?:\.\d{1,9})?)(m?)$/;
const memoryPattern = /^(\d{1,16}(?:\.\d{1,9})?)(Ki|Mi|Gi|Ti|K|M|G|T)?$/;

/** CPUs times 10^9 from "1.5" or "500m"; undefined when the text is not a CPU quantity above zero. */
export function parseCpu(text: string): number | undefined {
  const match = cpuPattern.exec(text);
  if (match === null) return undefined;
  const nanoCpus = Math.round(Number(match[1]) * (match[2] === "m" ? 1e6 : 1e9));
  return usable(nanoCpus);
}

/** Bytes from "1048576", "512Mi" or "1.5G"; undefined when the text is not a memory quantity above zero. */
export function parseMemory(text: string): number | undefined {
  const match = memoryPattern.exec(text);
  if (match === null) return undefined;
  return usable(Math.round(Number(match[1]) * (suffixes[match[2] ?? ""] ?? 1)));
}

/** A decimal count of CPUs: `0.5`. Reads back to the same number. */
export function formatCpu(nanoCpus: number): string {
  const whole = Math.floor(nanoCpus / 1e9);
  const fraction = String(nanoCpus % 1e9)
    .padStart(9, "0")
    .replace(/0+$/, "");
  return fraction === "" ? String(whole) : `${whole}.${fraction}`;
}

/** The largest binary unit that divides evenly: `512Mi`. Reads back to the same number. */
export function formatMemory(bytes: number): string {
  for (const [suffix, size] of Object.entries(binary)) {
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${suffix}`;
  }
  return String(bytes);
}

function usable(value: number): number | undefined {
  return value > 0 && Number.isSafeInteger(value) ? value : undefined;
}
