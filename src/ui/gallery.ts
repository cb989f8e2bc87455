import type { Screen } from "./frame/screen.ts";

/**
 * Screens for those who work on the UI: all parts on one page, without a server behind it. The executable has none of
 * them: see `local/ui/bundle.ts`.
 */
export const gallery: readonly Screen[] = [
  { path: "/components", title: "Components", load: () => import("./screens/components.tsx") },
];
