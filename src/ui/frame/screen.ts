import type { ComponentType } from "preact";

/** What a screen gets: the `:name` parts of its path. */
export interface ScreenProps {
  params: Record<string, string>;
}

/** A page of the UI. It is loaded when it is opened first. */
export interface Screen {
  /** `/apps/:scope/:name` */
  path: string;
  title: string;
  /** A letter after `g` that opens it. */
  key?: string;
  /** In the list on the left; left out for pages that others lead to. `wide`: not in the bar of phones. */
  nav?: "main" | "wide";
  load: () => Promise<{ Screen: ComponentType<ScreenProps> }>;
}
