import type { Screen } from "./frame/screen.ts";
import { gallery } from "./gallery.ts";

const app = () => import("./screens/app.tsx");
const instance = () => import("./screens/instance.tsx");
const alerts = () => import("./screens/alerts.tsx");

/** Every page: one line each, in the order of the list on the left. A path that comes first wins. */
export const screens: readonly Screen[] = [
  { path: "/", title: "Overview", key: "o", nav: "main", load: () => import("./screens/overview.tsx") },
  { path: "/apps/:scope/:name", title: "App", load: app },
  { path: "/apps/:scope/:name/:tab", title: "App", load: app },
  { path: "/logs", title: "Logs", key: "l", nav: "main", load: () => import("./screens/logs.tsx") },
  { path: "/metrics", title: "Metrics", key: "m", nav: "wide", load: () => import("./screens/metrics.tsx") },
  { path: "/traces", title: "Traces", key: "r", nav: "wide", load: () => import("./screens/traces.tsx") },
  { path: "/traces/:id", title: "Trace", load: () => import("./screens/trace.tsx") },
  { path: "/deploys", title: "Deploys", key: "d", nav: "main", load: () => import("./screens/deploys.tsx") },
  { path: "/builds", title: "Builds", key: "b", nav: "wide", load: () => import("./screens/builds.tsx") },
  { path: "/builds/:scope/:name/:id", title: "Build", load: () => import("./screens/build.tsx") },
  { path: "/events", title: "Events", key: "e", nav: "main", load: () => import("./screens/events.tsx") },
  { path: "/domains", title: "Domains", key: "i", nav: "wide", load: () => import("./screens/domains.tsx") },
  { path: "/requests", title: "Requests", load: () => import("./screens/requests.tsx") },
  { path: "/jobs", title: "Jobs", key: "j", nav: "wide", load: () => import("./screens/jobs.tsx") },
  { path: "/jobs/:kind/:scope/:name", title: "Job", load: () => import("./screens/job.tsx") },
  { path: "/databases", title: "Databases", key: "t", nav: "wide", load: () => import("./screens/databases.tsx") },
  { path: "/databases/:kind/:scope/:name", title: "Database", load: () => import("./screens/database.tsx") },
  { path: "/plugins", title: "Plugins", key: "p", nav: "wide", load: () => import("./screens/plugins.tsx") },
  { path: "/host", title: "Host & disk", key: "h", nav: "wide", load: () => import("./screens/host.tsx") },
  { path: "/volumes", title: "Volumes", key: "v", nav: "wide", load: () => import("./screens/volumes.tsx") },
  { path: "/backups", title: "Backups", key: "k", nav: "wide", load: () => import("./screens/backups.tsx") },
  { path: "/settings", title: "Settings", key: "s", nav: "wide", load: () => import("./screens/settings.tsx") },
  { path: "/audit", title: "Audit", load: () => import("./screens/audit.tsx") },
  { path: "/alerts", title: "Alerts", key: "a", nav: "main", load: alerts },
  { path: "/alerts/:tab", title: "Alerts", load: alerts },
  { path: "/identity", title: "Identity", nav: "wide", load: () => import("./screens/identity.tsx") },
  { path: "/identity/:instance", title: "Instance", load: instance },
  { path: "/identity/:instance/:tab", title: "Instance", load: instance },
  { path: "/access", title: "Access", nav: "wide", load: () => import("./screens/access.tsx") },
  { path: "/new", title: "New app", key: "n", load: () => import("./screens/new.tsx") },
  ...gallery,
];
