/** One figure of the benchmarks: `value` beside a baseline measured in the same run. */
export interface BenchRow {
  name: string;
  value: number;
  unit: string;
  baseline: number;
  /** `value / baseline`. */
  ratio: number;
  /** The aim, as text: `>= 0.8` for `ratio`, `value <= 100` where the figure itself counts. */
  wanted: string;
}
