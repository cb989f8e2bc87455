import type { UiFile } from "../../observability/http/ui-pages.ts";
import { bundleUi } from "./bundle.ts";

/** The files of the web UI. `build.ts` puts the bundled files in the place of this module; the source bundles them when asked. */
export function loadUiFiles(): Promise<UiFile[]> {
  return bundleUi({ gallery: true });
}
