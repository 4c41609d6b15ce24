#compdef signalbox
# zsh completion for signalbox. In ~/.zshrc, after compinit:  eval "$(signalbox completion zsh)"
_signalbox() {
    emulate -L zsh
    local -a found values shown open
    local value about
    found=("${(@f)$(command signalbox completion words zsh -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
    (( $#found )) || return 1
    local has_paths=${found[1]}
    shift found
    for value about in "${found[@]}"; do
        [[ -n $value ]] || continue
        if [[ $value == *[:=/] ]]; then
            open+=("$value")
        else
            values+=("$value")
            if [[ -n $about ]]; then shown+=("$value  -- $about"); else shown+=("$value"); fi
        fi
    done
    local status_=1
    (( $#values )) && compadd -l -d shown -- "${values[@]}" && status_=0
    (( $#open )) && compadd -S '' -- "${open[@]}" && status_=0
    if [[ $has_paths == paths* ]]; then
        compset -P "${(b)has_paths#paths }"
        _files && status_=0
    fi
    return status_
}
compdef _signalbox signalbox
