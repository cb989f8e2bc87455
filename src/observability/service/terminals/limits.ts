/** See `terminals` in `observabilityLimits` of `config/`, where each is explained. */
export interface TerminalLimits {
  perTokenMax: number;
  openMax: number;
  idleMs: number;
  lifeMs: number;
  inputBytesMax: number;
  wordsMax: number;
  commandCharactersMax: number;
}
