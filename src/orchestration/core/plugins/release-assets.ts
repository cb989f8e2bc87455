/** Other words for the processor, the usual one first. */
const architectures: Record<string, readonly string[]> = {
  x64: ["amd64", "x86_64", "x64"],
  arm64: ["arm64", "aarch64"],
};

export interface Machine {
  /** As Node names them: `linux`, `x64`. */
  os: string;
  arch: string;
}

/** A program that a release may offer for a machine. */
export interface AssetName {
  /** File name in the release: `my-plugin_linux_amd64`. */
  name: string;
  /** What the program is called without its machine. */
  base: string;
}

/** Names under which a program for this machine may be found, the likeliest first. `bases` are its possible names. */
export function assetNames(bases: readonly string[], { os, arch }: Machine): AssetName[] {
  const words = architectures[arch] ?? [arch];
  const unique = [...new Set(bases)];
  return unique.flatMap((base) =>
    words.flatMap((word) => ["_", "-"].map((dash) => ({ name: [base, os, word].join(dash), base }))),
  );
}

/** Files that may hold the checksums of a release. */
export const checksumFiles: readonly string[] = ["checksums.txt", "SHA256SUMS", "sha256sums.txt", "checksums.sha256"];

/** Checksums in the form of `sha256sum`, by file name: `<64 hex>  name`, or a line of the hash alone under `only`. */
export function parseChecksums(text: string, only = ""): Map<string, string> {
  const sums = new Map<string, string>();
  for (const line of text.split("\n").slice(0, 10_000)) {
    const [, sum, name = only] = /^([0-9a-fA-F]{64})(?:\s+[ *]?(?:\.\/)?(\S+))?\s*$/.exec(line) ?? [];
    if (sum === undefined || name === "") continue;
    const before = sums.get(name);
    const told = sum.toLowerCase();
    // Two that differ fit nothing.
    sums.set(name, before === undefined || before === told ? told : `${before} and ${told}`);
  }
  return sums;
}
