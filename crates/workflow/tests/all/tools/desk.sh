# Speaks as much MCP as it takes: `echo` answers with its whole request, `fail` with an error, and what
# its arguments say under `do` happens before. Notes every start, call, helper and end in $LOG.
printf 'up %s\n' "$$" >> "$LOG"
case "$START" in hang) exec sleep 600 ;; esac
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in *'"method":"tools/call"'*) printf 'call\n' >> "$LOG" ;; esac
  case "$line" in
    *'"do":"crash"'*) exit 3 ;;
    *'"do":"crash once"'*) [ -e "$LOG.once" ] || { : > "$LOG.once"; exit 3; } ;;
    *'"do":"hang"'*) sleep 600 & printf 'helper %s\n' "$!" >> "$LOG"; wait ;;
    *'"do":"garbage"'*) printf '{"jsonrpc":"2.0","id":%s,"result":7}\n' "$id"; continue ;;
  esac
  case "$line" in
    *'"method":"initialize"'*)
      result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"desk","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      result='{"tools":[{"name":"echo","description":"Says it again.","inputSchema":{"type":"object"}},{"name":"fail","inputSchema":{"type":"object"}},{"name":"who","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"ping"'*) result='{}' ;;
    *'"method":"tools/call"'*'"name":"who"'* | *'"name":"who"'*'"method":"tools/call"'*)
      result="{\"content\":[{\"type\":\"text\",\"text\":\"$NAME\"}]}" ;;
    *'"method":"tools/call"'*'"name":"fail"'* | *'"name":"fail"'*'"method":"tools/call"'*)
      result='{"content":[{"type":"text","text":"it is broken"}],"isError":true}' ;;
    *'"method":"tools/call"'*)
      said=$(printf '%s' "$line" | sed 's/\\/\\\\/g; s/"/\\"/g')
      result="{\"content\":[{\"type\":\"text\",\"text\":\"$said\"}]}" ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
printf 'down\n' >> "$LOG"
