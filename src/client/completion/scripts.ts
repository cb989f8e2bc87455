/** What a shell loads; each asks this program for the words that may come next, and offers files where there are none. */
export const completionScripts = {
  bash: `# berth completion bash: source <(berth completion bash)
_berth() {
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _berth berth`,
  zsh: `#compdef berth
# berth completion zsh: source <(berth completion zsh)
_berth() {
  local -a found
  found=(\${(f)"$("\${words[1]}" completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( \${#found} )); then compadd -a found; else _files; fi
}
if [ "\${funcstack[1]}" = _berth ]; then _berth "$@"; else compdef _berth berth; fi`,
  fish: `# berth completion fish: berth completion fish | source
function __berth_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found ($words[1] completion words -- $words[2..-1] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c berth -f -a '(__berth_complete)'`,
} as const;
