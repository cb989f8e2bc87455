/** `RUN --mount=…`, `COPY --link`, `ADD --checksum=…` and the like, and texts in the Dockerfile itself (`RUN <<END`). */
const marks = [
  /^[ \t]*RUN[ \t]+(?:--\S+[ \t]+)*--(?:mount|network|security)=/im,
  /^[ \t]*(?:COPY|ADD)[ \t]+(?:--\S+[ \t]+)*--(?:link|chmod|parents|exclude|checksum|keep-git-dir)\b/im,
  /^[ \t]*(?:RUN|COPY|ADD)[ \t].*<<-?["']?\w/im,
];

/** Whether a Dockerfile uses what the classic builder does not have. */
export function needsBuildkit(dockerfile: string): boolean {
  return marks.some((mark) => mark.test(dockerfile));
}
