import type { Layout } from "../base/disk/layout.ts";
import { resolveHost } from "../base/deliver/resolve-host.ts";
import type { ServeOptions } from "../config/config.ts";
import { createSources } from "../local/source/sources.ts";
import type { SourceReader } from "../orchestration/api/sources.ts";
import type { Controller } from "../orchestration/controller/controller.ts";
import { ownProgram } from "./plugins.ts";

interface Parts {
  layout: Layout;
  options: Pick<ServeOptions, "allowPrivateWebhooks">;
  controller: Controller;
}

/** What fetches and unpacks the source of apps, with what it needs of the platform. */
export function sourceReader({ layout, options, controller }: Parts): SourceReader {
  return createSources({
    folder: layout.builds,
    self: ownProgram(),
    resolve: resolveHost,
    allowPrivate: options.allowPrivateWebhooks,
    configOf: (scope, name) => controller.getConfig({ scope, name, key: undefined, merge: true }).vars as object,
    context: controller.contextState,
    upload: controller.uploadContext,
  });
}
