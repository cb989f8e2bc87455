import type { AppDetail } from "../../../observability/api/apps.ts";
import type { FolderEntry } from "../../../observability/api/files.ts";
import { listFolder } from "../../../observability/api/files.ts";
import { getPlanePod } from "../../../observability/api/pods.ts";
import { api } from "../../data/api.ts";
import { fileHref } from "../../data/files.ts";
import { useLoad } from "../../data/load.ts";
import { may } from "../../data/session.ts";
import { go, query, withQuery } from "../../browser/router.ts";
import { FileView } from "../../parts/file-view.tsx";
import { Shown } from "../../parts/loaded.tsx";
import { Denied, Empty, Note } from "../../parts/notes.tsx";
import { ReplicaChoice } from "../../parts/replica-choice.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { Upload } from "../../parts/upload.tsx";
import { bytesText } from "../../text/figures.ts";
import { below, crumbs, fateOf, type Mount, shownName } from "../../text/files.ts";

/** Files of one replica; the folder is in the address. */
export function Files({ app }: { app: AppDetail }) {
  if (!may("config:reveal")) return <Denied scope="config:reveal" />;
  const running = app.replicas.filter(({ state }) => state !== "exited" && state !== "stopped");
  const wanted = query.value.get("replica") ?? running[0]?.replica_id;
  const replica = running.find(({ replica_id: id }) => id === wanted);
  if (wanted === undefined) return <Empty title="No replica runs">{app.summary}</Empty>;
  const path = query.value.get("path") ?? "/";
  return (
    <section class="section">
      <div class="row">
        <ReplicaChoice
          replicas={running}
          chosen={wanted}
          onChoose={(id) => go(withQuery({ replica: id, view: undefined }))}
        />
        <Crumbs path={path} />
      </div>
      {replica === undefined ? (
        <Empty title={`${wanted} does not run any more`}>
          <p>Its files are gone, except those on volumes. Choose another replica.</p>
        </Empty>
      ) : (
        <Folder key={replica.pod} pod={replica.pod} replica={wanted} path={path} app={app} />
      )}
    </section>
  );
}

function Crumbs({ path }: { path: string }) {
  const steps = crumbs(path);
  return (
    <nav class="crumbs mono" aria-label="Folders above">
      {steps.map((step, index) => (
        <a
          key={step.path}
          href={withQuery({ path: step.path, view: undefined })}
          aria-current={index === steps.length - 1 ? "page" : undefined}
        >
          {shownName(step.name)}
        </a>
      ))}
    </nav>
  );
}

function Folder({ pod, replica, path, app }: { app: AppDetail; replica: string; pod: string; path: string }) {
  const view = query.value.get("view");
  const listing = useLoad(`${pod}\n${path}`, (signal) =>
    api.call(listFolder, { params: { name: pod }, query: { path }, signal }),
  );
  const detail = useLoad(pod, (signal) => api.call(getPlanePod, { params: { name: pod }, signal }));
  const mounts: readonly Mount[] = detail.data?.pod.mounts ?? [];
  const fate = detail.data === undefined ? undefined : fateOf(path, mounts);
  const entries = listing.data?.entries ?? [];
  return (
    <>
      <div class="row between">
        <p class={fate?.ends ? "small warn" : "small soft"}>{fate?.text ?? ""}</p>
        <Upload
          {...{ pod, path, app: `${app.scope}/${app.name}`, replica, others: app.replicas.length - 1 }}
          names={entries.map(({ name }) => name)}
          fate={fate}
          onDone={listing.again}
        />
      </div>
      {view === null ? null : (
        <FileView key={view} pod={pod} path={below(path, view)} onClose={() => go(withQuery({ view: undefined }))} />
      )}
      <Shown of={listing} label={shownName(path)} scope="config:reveal">
        {({ left_out: leftOut }) => (
          <>
            {entries.length === 0 ? (
              <Empty title="This folder is empty" />
            ) : (
              <Table
                label={`Files in ${shownName(path)}`}
                rows={entries}
                keyOf={({ name }) => name}
                columns={[
                  { title: "Name", cell: (entry) => <Name entry={entry} path={path} /> },
                  {
                    title: "Size",
                    right: true,
                    cell: (entry) => (entry.kind === "file" ? bytesText(entry.size_bytes) : "–"),
                  },
                  { title: "Mode", cell: ({ mode }) => <code>{mode}</code> },
                  { title: "Changed", right: true, cell: ({ modified_at: at }) => <Ago at={at} /> },
                  { title: "", cell: (entry) => <Download entry={entry} pod={pod} path={path} /> },
                ]}
              />
            )}
            {leftOut === 0 ? null : (
              <Note tone="warn">{`${leftOut} more are not shown; berth exec with ls shows all`}</Note>
            )}
          </>
        )}
      </Shown>
    </>
  );
}

function Name({ entry: { name, kind, link_target: target }, path }: { entry: FolderEntry; path: string }) {
  const shown = shownName(name);
  if (kind === "other") return <span class="mono soft">{shown}</span>;
  const isFolder = kind === "folder" || kind === "link";
  const href = withQuery(isFolder ? { path: below(path, name), view: undefined } : { view: name });
  return (
    <span class="mono wraps">
      <a href={href}>{kind === "folder" ? `${shown}/` : shown}</a>
      {target === undefined ? null : <span class="soft">{` → ${shownName(target)}`}</span>}
    </span>
  );
}

function Download({ entry: { name, kind }, pod, path }: { entry: FolderEntry; pod: string; path: string }) {
  if (kind === "folder" || kind === "other") return null;
  return (
    <a href={fileHref(pod, below(path, name))} download={name} aria-label={`Download ${shownName(name)}`}>
      Download
    </a>
  );
}
