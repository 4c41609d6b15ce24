# fish completion for signalbox. In ~/.config/fish/config.fish:  signalbox completion fish | source
function __signalbox_complete
    set -l before (commandline -opc)
    set -l typed (commandline -ct | string unescape)
    test -n "$typed"; or set typed (commandline -ct)
    set -l found (command signalbox completion words fish -- $before[2..-1] "$typed" 2>/dev/null)
    set -q found[1]; or return 0
    if string match -q -- 'paths*' "$found[1]"
        set -l before (string sub -s 7 -- "$found[1]")
        for path in (__fish_complete_path (string sub -s (math (string length -- "$before") + 1) -- "$typed"))
            printf '%s%s\n' "$before" "$path"
        end
    end
    set -e found[1]
    set -q found[1]; and printf '%s\t%s\n' $found
    return 0
end
complete -c signalbox -e
complete -c signalbox -f -a '(__signalbox_complete)'
