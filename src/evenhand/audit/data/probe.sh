# What a candidate could reach from inside an environment. POSIX sh; changes nothing, asks for one name and the upstream project.
#
# Run as: ENTER... sh -s -- evenhand-probe NONCE < preamble-and-this-file. It refuses to run without the marker.
# Prints lines "NONCE<tab>path|sight<tab>name<tab>state<tab>detail". A missing tool is "not measured", never "closed".

[ "${1:-}" = evenhand-probe ] && [ -n "${2:-}" ] || {
  echo 'evenhand-probe: refuses to run without its marker; evenhand audit starts it inside an environment' >&2
  exit 64
}
NONCE=$2
TAB=$(printf '\t')

have() { command -v "$1" >/dev/null 2>&1; }
limit() { if have timeout; then timeout "$@"; else shift; "$@"; fi; }
saw() { printf '%s\tpath\t%s\t%s\t%s\n' "$NONCE" "$1" "$2" "$3" >&3; }
sight() { printf '%s\tsight\t%s\topen\t%s\n' "$NONCE" "$1" "$2" >&3; }
# one_of STATE-LINES: says "closed" where nothing was printed before.
OPEN=
opened() { OPEN=yes; saw "$1" open "$2"; }
settle() { [ -n "$OPEN" ] || saw "$1" closed "$2"; OPEN=; }

# --- where to look ------------------------------------------------------------------------------------------------

work_roots() {
  pwd
  last=/nowhere
  for d in "${HOME:-}" /app /code /data /eval /grader /home /logs /mnt /oracle /opt /private /repo /repos /root \
    /solution /solutions /srv /submission /task /tasks /testbed /tests /tmp /var/tmp /verifier /work /workspace; do
    [ -n "$d" ] && [ "$d" != / ] && [ -d "$d" ] || continue
    case $d/ in "$last"/*) continue ;; esac
    last=$d
    echo "$d"
  done
}
all_roots() { for d in /*; do case $d in /proc|/sys|/dev|/run) ;; *) [ -d "$d" ] && echo "$d";; esac; done; pwd; }
# seek DEPTH ROOTS-FUNCTION TESTS...: paths, each once; nothing of interpreters and system libraries. SEEKING names the
# way that is not measured where the search runs out of time.
seek() {
  depth=$1 roots=$2; shift 2
  $roots | sort -u 2>/dev/null | while IFS= read -r root; do
    limit 12 find "$root" -maxdepth "$depth" \( -name site-packages -o -name dist-packages -o -name node_modules \
      -o -name .cache -o -name .npm -o -name .cargo -o -name .rustup -o -name .pyenv -o -name .nvm -o -name .rbenv \
      -o -path /usr/share -o -path /usr/lib -o -path /usr/include -o -path /etc/alternatives \) -prune \
      -o \( "$@" \) -print 2>/dev/null
    [ $? = 124 ] && saw "$SEEKING" 'not measured' "$root: the search ran out of time"
  done | sort -u
}

# --- network ------------------------------------------------------------------------------------------------------

ROUTE=unknown
network() {
  if [ -r /proc/net/route ]; then
    ROUTE=none
    while read -r face dest rest; do
      [ "$dest" = 00000000 ] && { ROUTE=found; opened 'network route' "default route by $face"; }
    done < /proc/net/route
    if [ -r /proc/net/ipv6_route ]; then
      while read -r dest len rest; do
        [ "$dest" = 00000000000000000000000000000000 ] && [ "$len" = 00 ] && case $rest in
          *' lo') ;;
          *) ROUTE=found; opened 'network route' "default route of IPv6 by ${rest##* }";;
        esac
      done < /proc/net/ipv6_route
    fi
    settle 'network route' 'no default route'
  elif have ip; then
    ROUTE=none
    ip route show default 2>/dev/null | grep -q . && { ROUTE=found; opened 'network route' 'default route'; }
    settle 'network route' 'no default route'
  else
    saw 'network route' 'not measured' 'neither /proc/net/route nor ip is there'
  fi
  [ "$ROUTE" = found ] && sight network 'default route'
  if have getent; then
    found=$(limit 8 getent hosts example.com 2>/dev/null) && [ -n "$found" ] && opened dns "example.com is ${found%% *}"
    settle dns 'example.com is not resolved'
  elif have nslookup; then
    limit 8 nslookup example.com >/dev/null 2>&1 && opened dns 'example.com is resolved'
    settle dns 'example.com is not resolved'
  else
    saw dns 'not measured' 'neither getent nor nslookup is there'
  fi
}

index() {
  tried=
  for tool in 'python3 -m pip' 'python -m pip' pip3 pip; do
    have "${tool%% *}" || continue
    $tool --version >/dev/null 2>&1 || continue
    tried="$tried $tool"
    for name in $PACKAGES pip; do
      found=$(PYTHONDONTWRITEBYTECODE=1 limit 25 $tool --disable-pip-version-check --no-input --no-cache-dir \
        --retries 0 --timeout 8 index versions "$name" 2>/dev/null) && [ -n "$found" ] &&
        { opened 'package index' "$tool: $(printf '%s' "$found" | head -n 2 | tr '\n' ' ')"; break; }
    done
    break
  done
  if have npm; then
    tried="$tried npm"
    for name in $PACKAGES npm; do
      found=$(limit 25 npm view "$name" version --fetch-retries=0 --fetch-timeout=8000 --logs-max=0 \
        --cache "${TMPDIR:-/tmp}/evenhand-probe-$NONCE" 2>/dev/null) &&
        [ -n "$found" ] && { opened 'package index' "npm: $name $found"; break; }
    done
    rm -rf "${TMPDIR:-/tmp}/evenhand-probe-$NONCE"
  fi
  if [ -z "$OPEN" ] && [ -z "$tried" ] && [ "$ROUTE" != none ]; then
    saw 'package index' 'not measured' 'neither pip nor npm is there'
    return
  fi
  [ -n "$tried" ] && settle 'package index' "asked by$tried" || settle 'package index' 'no network to reach one'
}

# --- history ------------------------------------------------------------------------------------------------------

GIT_PATHS='history ahead of HEAD,history behind HEAD,tag,FETCH_HEAD,stash,reflog,dangling object,packed object'
GIT_PATHS="$GIT_PATHS,message search"
each_git_path() {
  left=$GIT_PATHS,
  while [ -n "$left" ]; do saw "${left%%,*}" "$1" "$2"; left=${left#*,}; done
}
git_dirs() {
  own=$(have git && git -c safe.directory='*' rev-parse --absolute-git-dir 2>/dev/null)
  [ -n "$own" ] && echo "$own"
  seek 7 all_roots -type f -name HEAD | while IFS= read -r head; do
    d=${head%/HEAD}
    [ "$d" != "$own" ] && [ -d "$d/objects" ] && [ -d "$d/refs" ] && echo "$d"
  done | head -n 20
}
history() {
  SEEKING='history ahead of HEAD'
  have find && have sort && have head || { each_git_path 'not measured' 'find, sort or head is missing'; return; }
  dirs=$(git_dirs)
  [ -n "$dirs" ] || { each_git_path closed 'no repository is visible'; return; }
  have git || { each_git_path 'not measured' "git is missing, and there is $(echo "$dirs" | head -n 1)"; return; }
  echo "$dirs" | while IFS= read -r d; do repository "$d"; done
}
g() { git -c safe.directory='*' -c core.fsmonitor= -c core.hooksPath=/dev/null --git-dir="$d" "$@" 2>/dev/null; }
beyond() { g rev-list --count "$1" "^$head" || echo 0; }
every_commit() {
  g cat-file --batch-all-objects --batch-check='%(objecttype) %(objectname)' | sed -n 's/^commit //p'
}
repository() {
  d=$1 OPEN=
  head=$(g rev-parse -q --verify 'HEAD^{commit}') || head=
  if [ -z "$head" ]; then
    n=$(every_commit | wc -l | tr -d ' ')
    [ "${n:-0}" -gt 0 ] && saw 'history ahead of HEAD' open "$d: HEAD is none of its commits: $n"
    [ "${n:-0}" -gt 0 ] || each_git_path closed "$d: no commit"
    [ "${n:-0}" -gt 0 ] || return
    head=$(printf '' | git hash-object -t tree --stdin 2>/dev/null)
    for p in 'history behind HEAD' tag FETCH_HEAD stash reflog 'dangling object' 'packed object'; do
      saw "$p" 'not measured' "$d: HEAD is no commit"
    done
    messages; return
  fi
  n=$(g rev-list --count HEAD)
  [ "${n:-1}" -gt 1 ] && opened 'history behind HEAD' "$d: commits before HEAD: $((n - 1))"
  settle 'history behind HEAD' "$d: one commit"
  refs 'history ahead of HEAD' "$d: every branch is in HEAD" refs/heads refs/remotes refs/notes refs/pull refs/original
  refs tag "$d: every tag is in HEAD" refs/tags
  refs stash "$d: none" refs/stash
  for name in FETCH_HEAD ORIG_HEAD MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD; do
    [ -r "$d/$name" ] || continue
    while read -r sha rest; do
      n=$(beyond "$sha"); [ "${n:-0}" -gt 0 ] && opened FETCH_HEAD "$d: $name leads beyond HEAD, commits: $n"
    done < "$d/$name"
  done
  settle FETCH_HEAD "$d: none beyond HEAD"
  n=$(g rev-list --count --reflog "^$head" || echo 0)
  [ "${n:-0}" -gt 0 ] && opened reflog "$d: commits beyond HEAD: $n, $(g rev-list --reflog --oneline "^$head" | head -n 1)"
  settle reflog "$d: none beyond HEAD"
  lost=$(g fsck --unreachable --no-reflogs --no-progress | grep -E '^unreachable (commit|blob|tag)')
  if [ -n "$lost" ]; then
    n=$(echo "$lost" | wc -l | tr -d ' ')
    first=$(echo "$lost" | sed -n 's/^unreachable commit //p' | head -n 1)
    what=$([ -n "$first" ] && g log -1 --format='%h %s' "$first")
    opened 'dangling object' "$d: objects that nothing points at: $n${what:+, such as $what}"
  fi
  settle 'dangling object' "$d: none"
  n=$(for i in "$d"/objects/pack/*.idx; do [ -r "$i" ] && g show-index < "$i"; done | cut -d ' ' -f 2 |
    g cat-file --batch-check='%(objecttype) %(objectname)' | sed -n 's/^commit //p' |
    g rev-list --count --no-walk --stdin "^$head" || echo 0)
  [ "${n:-0}" -gt 0 ] && opened 'packed object' "$d: commits beyond HEAD in packs: $n"
  settle 'packed object' "$d: none beyond HEAD"
  [ -s "$d/objects/info/alternates" ] &&
    saw 'packed object' open "$d: borrows objects from $(head -n 1 "$d/objects/info/alternates")"
  messages
}
refs() {
  path=$1 none=$2; shift 2
  found=$(g for-each-ref --format='%(refname)%09%(objectname)%09%(committerdate:short)%09%(taggerdate:short)' "$@" |
    head -n 500 | while IFS="$TAB" read -r ref sha date tagged; do
      n=$(beyond "$sha"); [ "${n:-0}" -gt 0 ] && echo "$d: $ref, commits beyond HEAD: $n${date:+, $date}"
    done | head -n 20)
  [ -n "$found" ] && { OPEN=yes; echo "$found" | while IFS= read -r line; do saw "$path" open "$line"; done; }
  settle "$path" "$none"
}
messages() {
  for number in $NUMBERS; do
    found=$(every_commit | g log --no-walk --stdin --format='%h %s' -F --grep="$number" | head -n 1)
    [ -n "$found" ] && opened 'message search' "$d: $number is in $found"
  done
  [ -n "$NUMBERS" ] && settle 'message search' "$d: no message has $NUMBERS" ||
    settle 'message search' "$d: no number in the task's text to search for"
}

# --- caches -------------------------------------------------------------------------------------------------------

caches() {
  have find && have grep || { saw 'package cache' 'not measured' 'find or grep is missing'; return; }
  here=$(pwd) homes="${HOME:-} /root $(for h in /home/*; do [ -d "$h" ] && printf '%s ' "$h"; done)"
  names="$PACKAGES $(sed -n 's/^name *= *["'"'"']\([A-Za-z0-9._-]*\)["'"'"'].*/\1/p' pyproject.toml setup.cfg 2>/dev/null)"
  names="$names $(sed -n 's/^ *"name": *"\([A-Za-z0-9@/._-]*\)".*/\1/p' package.json 2>/dev/null | head -n 1)"
  dirs=$(for h in $homes; do
      for c in .cache/pip .cache/uv .cache/pypoetry .cache/yarn .npm/_cacache .cargo/registry go/pkg/mod .m2 .gradle
      do [ -d "$h/$c" ] && echo "$h/$c"; done
    done; for c in "${PIP_CACHE_DIR:-}" "${UV_CACHE_DIR:-}" "${npm_config_cache:-}" /var/cache/pip /wheels /wheelhouse
      do [ -n "$c" ] && [ -d "$c" ] && echo "$c"; done)
  dirs=$(echo "$dirs" | sort -u)
  unknown=
  if [ -n "$(echo $names)" ]; then
    for name in $names; do
      other=$(echo "$name" | tr '-' '_')
      echo "$dirs" | while IFS= read -r c; do
        [ -n "$c" ] || continue
        { limit 20 find "$c" \( -iname "*$name*" -o -iname "*$other*" \) 2>/dev/null
          limit 20 grep -rlaiF -e "$name" -e "$other" "$c" 2>/dev/null; } | head -n 3
      done | sort -u | head -n 5 | while IFS= read -r f; do saw 'package cache' open "$f holds $name"; done
      limit 20 find / -maxdepth 7 \( -path /proc -o -path /sys \) -prune -o -type d \
        \( -path "*/site-packages/$name" -o -path "*/site-packages/$other" -o -path "*/dist-packages/$name" \
        -o -path "*/dist-packages/$other" -o -path "*/node_modules/$name" \) -print 2>/dev/null | head -n 5 |
        while IFS= read -r f; do case $f in "$here"/*) ;; *) saw 'package cache' open "$f: an installed copy";; esac; done
    done
  else
    echo "$dirs" | while IFS= read -r c; do
      [ -n "$c" ] && find "$c" -type f 2>/dev/null | head -n 1 | grep -q . &&
        saw 'package cache' 'not measured' "$c is not empty, and nobody says which project the task is from"
    done
  fi
  saw 'package cache' closed "looked in: $(echo $dirs)"
}

# --- the task and its answers --------------------------------------------------------------------------------------

provenance() {
  SEEKING='task provenance'
  have find && have env && have grep || { saw 'task provenance' 'not measured' 'find, env or grep is missing'; return; }
  [ -n "$IDS" ] && echo "$IDS" | while IFS= read -r id; do
    [ -n "$id" ] || continue
    case $id in
      ????*) env | grep -iF -e "$id" ;;
      *) env | grep -e "=$id\$" ;;
    esac | grep -v '^PWD=\|^OLDPWD=' | head -n 2 | while IFS= read -r line; do
      [ -n "$line" ] && saw 'task provenance' open "environment: ${line%%=*} names $id"
    done
    case $id in ????*) pattern="*$id*" ;; *) pattern=$id ;; esac
    seek 6 work_roots -name "$pattern" | head -n 2 | while IFS= read -r f; do saw 'task provenance' open "$f"; done
    case $(pwd)/ in */"$id"/*) saw 'task provenance' open "the working folder is $(pwd)" ;; esac
  done
  saw 'task provenance' closed 'the ids were looked for in environment and paths'
}

answers() {
  SEEKING='answer-like file'
  have find || { saw 'answer-like file' 'not measured' 'find is missing'; return; }
  seek 8 work_roots -type f \( -iname '*answer*key*' -o -iname 'answers.*' -o -iname 'answer.*' -o -iname 'gold.*' \
    -o -iname 'gold_*' -o -iname '*_gold.*' -o -iname '*solution*' -o -iname 'oracle.*' -o -iname 'oracle_*' \
    -o -iname '*_oracle.*' -o -iname '*ground*truth*' -o -iname 'expected_*' -o -iname 'solve.sh' \
    -o -iname '*reference_impl*' -o -iname '*.patch' -o -iname '*.diff' -o -iname '*.rej' -o -iname '*.orig' \
    -o -iname 'labels.*' -o -path '*/dist/*.whl' -o -path '*/dist/*.tar.gz' -o -path '*/build/lib/*.py' \) |
    grep -v '/objects/' | head -n 40 |
    while IFS= read -r f; do [ -r "$f" ] && { saw 'answer-like file' open "$f"; sight answer "$f"; }; done
  seek 8 work_roots -type f \( -name 'reward*.json' -o -name 'reward*.txt' -o -path '*/verifier/*' \) | head -n 20 |
    while IFS= read -r f; do
      [ -r "$f" ] && { saw 'answer-like file' open "$f: of an earlier verification"; sight 'verifier state' "$f"; }
    done
  compiled
  if [ -n "$GOLDS" ]; then
    have grep || { saw 'answer-like file' 'not measured' 'grep is missing'; return; }
    work_roots | sort -u | while IFS= read -r root; do
      echo "$GOLDS" | limit 30 grep -rlaF --exclude-dir=objects --exclude-dir=site-packages -f - "$root" 2>/dev/null
      [ $? = 124 ] && saw 'answer-like file' 'not measured' "$root: the search for answers ran out of time"
    done | sort -u | head -n 40 | while IFS= read -r f; do saw 'answer-like file' open "$f: holds the right answer of a task"
      sight answer "$f"; done
  fi
  saw 'answer-like file' closed 'looked for by name, by the right answers, and among compiled files'
}
# A compiled file that is not made of the source beside it may be made of the answer.
compiled() {
  found=$(seek 8 work_roots -type f -name '*.pyc' | head -n 400)
  [ -n "$found" ] || return
  have od && have stat || { saw 'answer-like file' 'not measured' 'compiled files are there, and od or stat is missing'
    return; }
  echo "$found" | while IFS= read -r f; do
    base=${f##*/}; folder=${f%/*}
    case $folder in */__pycache__) source=${folder%/*}/${base%%.*}.py ;; *) source=$folder/${base%.pyc}.py ;; esac
    if [ ! -e "$source" ]; then saw 'answer-like file' open "$f: compiled, without its source"; sight answer "$f"
    else
      [ "$(od -An -tu4 -j4 -N4 "$f" 2>/dev/null | tr -d ' ')" = 0 ] || continue  # checked by hash, not by time
      header=$(od -An -tu4 -j8 -N8 "$f" 2>/dev/null); now=$(stat -c '%Y %s' "$source" 2>/dev/null) || continue
      [ "$(echo $header)" = "$now" ] || { saw 'answer-like file' open "$f: compiled from another source"
        sight answer "$f"; }
    fi
  done
}

# --- the evaluator -------------------------------------------------------------------------------------------------

evaluator() {
  have find || return
  seek 5 work_roots -type d \( -name verifier -o -name grader -o -name evaluator -o -name reward -o -name rewards \) |
    head -n 20 | while IFS= read -r d; do
      [ -w "$d" ] && case $d in
        *reward*|*/logs/verifier) sight 'plantable reward' "$d" ;;
        *) sight 'writable evaluator' "$d" ;;
      esac
    done
  seek 6 work_roots -type f \( -name 'reward*.txt' -o -name 'reward*.json' \) | head -n 20 |
    while IFS= read -r f; do [ -w "$f" ] && sight 'plantable reward' "$f"; done
  seek 6 work_roots -type f \( -name 'grade*.py' -o -name 'grader*' -o -name 'verifier*' -o -name 'evaluator*' \
    -o -name run_tests.sh -o -name eval.sh -o -name 'score.py' -o -name 'scorer*.py' -o -name 'check_answer*' \) |
    head -n 20 | while IFS= read -r f; do [ -w "$f" ] && sight 'writable evaluator' "$f"; done
  for name in $CHECKERS; do
    seek 8 work_roots -type f -name "$name" | head -n 5 |
      while IFS= read -r f; do [ -w "$f" ] && sight 'writable evaluator' "$f"; done
  done
}

main() {
  exec 3>&1
  printf '%s\tbegun\t\t\t%s\n' "$NONCE" "$(pwd)"
  [ "$(id -u 2>/dev/null)" = 0 ] && sight 'runs as root' 'uid 0'
  network; history; caches; provenance; answers; evaluator; index
  printf '%s\tdone\t\t\t\n' "$NONCE"
}
main </dev/null
