import type { AppDetail } from "../../../observability/api/apps.ts";
import { changeAppConfig, getAppConfig, revealAppConfig } from "../../../observability/api/settings.ts";
import { api } from "../../data/api.ts";
import { ConfigEditor } from "../../parts/config-editor.tsx";

/** Keys that an app reads: its own and those of its scope. */
export function Config({ app: { scope, name } }: { app: AppDetail }) {
  const params = { scope, name };
  return (
    <ConfigEditor
      name={`${scope}/${name}`}
      load={(signal) => api.call(getAppConfig, { params, signal })}
      reveal={(keys) => api.call(revealAppConfig, { params, body: { keys } })}
      change={(patch, restart) => api.call(changeAppConfig, { params, query: { restart }, body: patch })}
    />
  );
}
