/** `RUN --mount=…`, `COPY --link`, `ADD --checksum=…` and the like, and texts in the Dockerfile itself (`RUN <<END`). */
const marks = [
  /^\s*RUN\s+(?:--\S+\s+)*--(?:mount|network|security)=/im,
  /^\s*(?:COPY|ADD)\s+(?:--\S+\s+)*--(?:link|chmod|parents|exclude|checksum|keep-git-dir)\b/im,
  /^\s*(?:RUN|COPY|ADD)\s.*<<-?["']?\w/im,
];

/** Whether a Dockerfile uses what the classic builder does not have. */
export function needsBuildkit(dockerfile: string): boolean {
  return marks.some((mark) => mark.test(dockerfile));
}
