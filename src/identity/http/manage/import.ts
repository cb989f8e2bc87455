import { pulled } from "../../../base/http/pulled.ts";
import { exportIdentityUsers, importIdentityUsers } from "../../api/manage/import.ts";
import { readFlag } from "../../../base/wire/query.ts";
import type { Management } from "../../service/manage/manage.ts";
import { mount, mountStream, type Plane } from "../../../base/http/mount.ts";

export function mountIdentityImport(plane: Plane, { transfer }: Management): void {
  mount(plane, importIdentityUsers, ({ query: { instance, update }, body, actor }) =>
    transfer.import(instance, {
      text: String(body),
      update: readFlag(update, false),
      actor,
    }),
  );
  mountStream(plane, exportIdentityUsers, async ({ query: { instance, secrets }, actor }, { signal }) => {
    const lines = await transfer.export(instance, { secrets: readFlag(secrets, false), actor, signal });
    return new Response(pulled(lines), {
      headers: { "Content-Type": exportIdentityUsers.stream ?? "", "Cache-Control": "no-store" },
    });
  });
}
