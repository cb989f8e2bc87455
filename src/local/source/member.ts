/** One member of an archive. `content` is read to its end before the next one. */
export interface Member {
  name: string;
  kind: "file" | "folder" | "link" | "other";
  /** Permission bits; undefined where the archive has none. */
  mode: number | undefined;
  target: string;
  content: AsyncIterable<Uint8Array>;
}
