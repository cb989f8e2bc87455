import type { AppDetail } from "../../../observability/api/apps.ts";
import { changeAppConfig, getAppConfig, revealAppConfig } from "../../../observability/api/settings.ts";
import { api } from "../../data/api.ts";
import { activity } from "../../data/model.ts";
import { ConfigEditor } from "../../parts/config-editor.tsx";

/** Keys that an app reads: its own and those of its scope. */
export function Config({ app: { scope, name } }: { app: AppDetail }) {
  const params = { scope, name };
  const ofScope = activity.value.filter((event) => event.action.startsWith("config.") && event.scope === scope);
  return (
    <ConfigEditor
      name={`${scope}/${name}`}
      events={ofScope.filter((event) => event.name === name)}
      version={String(ofScope[0]?.seq ?? "")}
      load={(signal) => api.call(getAppConfig, { params, signal })}
      reveal={(keys) => api.call(revealAppConfig, { params, body: { keys } })}
      change={(patch, restart) => api.call(changeAppConfig, { params, query: { restart }, body: patch })}
    />
  );
}
