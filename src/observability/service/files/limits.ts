/** See `files` in `observabilityLimits` of `config/`, where each is explained. */
export interface FileLimits {
  bytesMax: number;
  entriesMax: number;
  listMs: number;
  listBytesMax: number;
  scanBytesMax: number;
}
