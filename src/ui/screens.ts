import type { Screen } from "./frame/screen.ts";

/** Every page: one line each, in the order of the list on the left. A path that comes first wins. */
export const screens: readonly Screen[] = [
  { path: "/components", title: "Components", load: () => import("./screens/components.tsx") },
];
