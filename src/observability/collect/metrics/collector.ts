import type { Sample, Series } from "../../core/metrics/series.ts";

/** One source of samples. What it cannot read it leaves out. */
export interface Collector {
  name: string;
  /** `at`: epoch milliseconds. */
  collect(at: number): Sample[] | Promise<Sample[]>;
}

/** A series that belongs to no app. */
export function bare(source: "system" | "server", metric: string, labels: Series["labels"] = {}): Series {
  return { source, kind: "", scope: "", name: "", replica: "", metric, labels };
}
