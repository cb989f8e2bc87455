/**
 * Users whose domain is written with letters that DNS does not know: after the start that brings addresses into one
 * form, only those remain whose mailbox another user has. `store/address-forms.ts` has the same condition.
 */
export const fifth = /* sql */ `
create index users_by_written_domain on users (instance, seq)
where length(substr(email, instr(email, '@'))) <> length(cast(substr(email, instr(email, '@')) as blob));
`;
