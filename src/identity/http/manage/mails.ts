import { getIdentityMail, listIdentityMails } from "../../api/manage/mails.ts";
import type { Management } from "../../service/manage/manage.ts";
import { mount, type Plane } from "../../../base/http/mount.ts";
import { readCount, readParam } from "../../../base/http/request.ts";

const pageDefault = 50;

export function mountIdentityMails(plane: Plane, { mails }: Management, options: { pageMax: number }): void {
  mount(plane, listIdentityMails, ({ query: { instance, limit } }) =>
    mails.list(instance, readCount("limit", limit, options.pageMax) ?? pageDefault),
  );
  mount(plane, getIdentityMail, {
    answer: ({ params, query: { instance }, actor }) => mails.get(instance, readParam(params, "mail"), { actor }),
    // It may hold a link that signs somebody in.
    headers: () => ({ "Cache-Control": "no-store" }),
  });
}
