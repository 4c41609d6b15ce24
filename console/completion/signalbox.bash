# bash completion for signalbox. In ~/.bashrc:  eval "$(signalbox completion bash)"
_signalbox_complete() {
    local IFS=$'\n' lines
    lines=$(COMP_WORDBREAKS="$COMP_WORDBREAKS" command signalbox completion words bash -- "${COMP_LINE:0:COMP_POINT}" 2>/dev/null) || return 0
    COMPREPLY=()
    local line is_first=1
    while IFS= read -r line; do
        if [[ $is_first == 1 ]]; then
            is_first=0
            [[ $line == nospace ]] && compopt -o nospace 2>/dev/null
        elif [[ -n $line ]]; then
            COMPREPLY+=("$line")
        fi
    done <<<"$lines"
    return 0
}
complete -F _signalbox_complete signalbox
