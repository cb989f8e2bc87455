import { readFile } from "node:fs/promises";

/** Port and word that a listener of ours had before. Port 0, which is any free one, and a new word when there were none. */
export async function keptIn(file: string): Promise<{ port: number; word: string }> {
  const [port = "", word = ""] = (await readFile(file, "utf8").catch(() => "")).trim().split(" ");
  const isPort = /^\d{1,5}$/.test(port) && Number(port) < 65_536;
  return { port: isPort ? Number(port) : 0, word: /^[0-9a-f-]{36}$/.test(word) ? word : crypto.randomUUID() };
}
