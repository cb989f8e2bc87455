/** Bounds of what plugins say; see `observabilityLimits` of `config/`. */
export interface PluginLimits {
  outputCharactersMax: number;
}
