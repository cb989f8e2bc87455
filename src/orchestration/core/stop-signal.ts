const pattern =
  /^(?:SIG)?(?:HUP|INT|QUIT|ILL|TRAP|ABRT|BUS|FPE|KILL|USR1|SEGV|USR2|PIPE|ALRM|TERM|STKFLT|CHLD|CONT|STOP|TSTP|TTIN|TTOU|URG|XCPU|XFSZ|VTALRM|PROF|WINCH|IO|PWR|SYS|RTMIN(?:\+\d{1,2})?|RTMAX(?:-\d{1,2})?)$/;

/** Whether `text` is a signal name with or without SIG, or a number from 1 to 64. */
export function stopSignalOk(text: string): boolean {
  if (/^\d{1,2}$/.test(text)) return Number(text) >= 1 && Number(text) <= 64;
  return pattern.test(text);
}
