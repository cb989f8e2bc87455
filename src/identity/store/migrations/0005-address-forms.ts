/**
 * Users whose domain is written with letters that DNS does not know: after the start that brings addresses into one
 * form, only those remain whose mailbox another user has. `store/address-forms.ts` has the same condition.
 */
export const fifth = /* sql */ `
create index users_by_written_domain on users (instance, seq)
where length(substr(email, instr(email, '@'))) <> length(cast(substr(email, instr(email, '@')) as blob));

-- How an import wrote an address that is stored in another form: the same line again means the same user, and the
-- other form may be somebody else's.
create table import_forms (
  user integer primary key references users (seq) on delete cascade,
  written text not null
) strict;
`;
