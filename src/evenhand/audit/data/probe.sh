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
# timed WAY WHERE SECONDS COMMAND...: a search that ran out of time has not measured the way.
timed() {
  way=$1 where=$2 seconds=$3; shift 3
  limit "$seconds" "$@" 2>/dev/null
  case $? in 124 | 137 | 143) saw "$way" 'not measured' "$where: the search ran out of time" ;; esac
}
# missing TOOL...: those that are not there; a pipe with one of them in it would look as if it had found nothing.
missing() { for tool in "$@"; do have "$tool" || printf ' %s' "$tool"; done; }
needs() {
  way=$1; shift
  lost=$(missing "$@")
  [ -z "$lost" ] || { saw "$way" 'not measured' "missing:$lost"; return 1; }
}
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
    timed "$SEEKING" "$root" 12 find "$root" -maxdepth "$depth" \( -name site-packages -o -name dist-packages -o -name node_modules \
      -o -name .cache -o -name .npm -o -name .cargo -o -name .rustup -o -name .pyenv -o -name .nvm -o -name .rbenv \
      -o -path /usr/share -o -path /usr/lib -o -path /usr/include -o -path /etc/alternatives \) -prune \
      -o \( "$@" \) -print
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
    [ -n "$(ip route show default 2>/dev/null)" ] && { ROUTE=found; opened 'network route' 'default route'; }
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
  tried= deaf=
  for tool in 'python3 -m pip' 'python -m pip' pip3 pip; do
    have "${tool%% *}" || continue
    $tool --version >/dev/null 2>&1 || continue
    $tool index --help >/dev/null 2>&1 || { deaf="$deaf $tool"; continue; }
    tried="$tried $tool"
    for name in $PACKAGES pip; do
      found=$(PYTHONDONTWRITEBYTECODE=1 limit 25 $tool --disable-pip-version-check --no-input --no-cache-dir \
        --retries 0 --timeout 8 index versions "$name" 2>/dev/null) && [ -n "$found" ] &&
        { opened 'package index' "$tool: $(echo $found)"; break; }
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
    saw 'package index' 'not measured' "no pip or npm that can ask${deaf:+:$deaf is too old}"
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
  done | head -n 21
}
history() {
  SEEKING='history ahead of HEAD'
  lost=$(missing find sort head)
  [ -z "$lost" ] || { each_git_path 'not measured' "missing:$lost"; return; }
  seek 6 all_roots -type d \( -name .hg -o -name .svn -o -name .bzr -o -name _darcs -o -name .jj \) | head -n 5 |
    while IFS= read -r d; do saw 'history ahead of HEAD' 'not measured' "$d: history of another kind, not read"
      saw 'history behind HEAD' 'not measured' "$d: history of another kind, not read"; done
  dirs=$(git_dirs)
  [ -n "$dirs" ] || { each_git_path closed 'no repository is visible'; return; }
  lost=$(missing git sed grep cut wc tr)
  [ -z "$lost" ] || { each_git_path 'not measured' "missing:$lost, and there is $(echo "$dirs" | head -n 1)"; return; }
  [ "$(echo "$dirs" | wc -l)" -le 20 ] || each_git_path 'not measured' 'of more than 20 repositories 20 were read'
  dirs=$(echo "$dirs" | head -n 20)
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
  lost=$(g fsck --unreachable --no-reflogs --no-progress) || saw 'dangling object' 'not measured' "$d: git fsck gave up"
  lost=$(echo "$lost" | grep -E '^unreachable (commit|blob|tag)')
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
  needs 'package cache' find grep sed sort head tr || return
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
        { timed 'package cache' "$c" 20 find "$c" \( -iname "*$name*" -o -iname "*$other*" \)
          timed 'package cache' "$c" 20 find "$c" -type f -exec grep -liF -e "$name" -e "$other" {} +; } | head -n 3
      done | sort -u | head -n 5 | while IFS= read -r f; do saw 'package cache' open "$f holds $name"; done
      timed 'package cache' 'installed copies' 20 find / -maxdepth 7 \( -path /proc -o -path /sys \) -prune -o -type d \
        \( -path "*/site-packages/$name" -o -path "*/site-packages/$other" -o -path "*/dist-packages/$name" \
        -o -path "*/dist-packages/$other" -o -path "*/node_modules/$name" \) -print | head -n 5 |
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
  needs 'task provenance' find env grep sort head || return
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
  needs 'answer-like file' find grep sort head || return
  seek 8 work_roots -type f \( -iname '*answer*key*' -o -iname 'answers.*' -o -iname 'answer.*' -o -iname 'gold.*' \
    -o -iname 'gold_*' -o -iname '*_gold.*' -o -iname '*solution*' -o -iname 'oracle.*' -o -iname 'oracle_*' \
    -o -iname '*_oracle.*' -o -iname '*ground*truth*' -o -iname 'expected_*' -o -iname 'solve.sh' \
    -o -iname '*reference_impl*' -o -iname '*.patch' -o -iname '*.diff' -o -iname '*.rej' -o -iname '*.orig' \
    -o -iname '*.bak' -o -name '*~' -o -name '.*.sw[a-p]' -o -name '*.bundle' \
    -o -iname 'labels.*' -o -path '*/dist/*.whl' -o -path '*/dist/*.tar.gz' -o -path '*/build/lib/*.py' \) |
    grep -v '/objects/' | head -n 40 |
    while IFS= read -r f; do [ -r "$f" ] && { saw 'answer-like file' open "$f"; sight answer "$f"; }; done
  seek 8 work_roots -type f \( -name 'reward*.json' -o -name 'reward*.txt' -o -path '*/verifier/*' \) | head -n 20 |
    while IFS= read -r f; do
      [ -r "$f" ] && { saw 'answer-like file' open "$f: of an earlier verification"; sight 'verifier state' "$f"; }
    done
  compiled
  if [ -n "$GOLDS" ]; then
    work_roots | sort -u | while IFS= read -r root; do
      timed 'answer-like file' "$root" 30 find "$root" \( -name objects -o -name site-packages \) -prune \
        -o -type f -exec grep -lF -e "$GOLDS" {} +
    done | sort -u | head -n 40 | while IFS= read -r f; do saw 'answer-like file' open "$f: holds the right answer of a task"
      sight answer "$f"; done
  fi
  saw 'answer-like file' closed 'looked for by name, by the right answers, and among compiled files'
}
# Whether a file belongs to the system or to an installed package; whether that is the upstream project, `caches` asks.
# The task's own folder may lie below /usr (/usr/src/app), and is never the system's.
SYSTEM='/bin /sbin /lib /lib32 /lib64 /libx32 /usr/bin /usr/sbin /usr/lib /usr/lib32 /usr/lib64 /usr/libx32 /usr/libexec
  /usr/local/bin /usr/local/sbin /usr/local/lib /usr/local/lib64 /usr/local/libexec /nix/store /snap'
installed() {
  for of in $SYSTEM; do
    case $(pwd)/ in "$of"/*) continue ;; esac
    case $1 in "$of"/*) return 0 ;; esac
  done
  { have dpkg-query && dpkg-query -S "$1"; } >/dev/null 2>&1 && return 0
  { have rpm && rpm -qf "$1"; } >/dev/null 2>&1 && return 0
  { have apk && apk info -W "$1"; } 2>/dev/null | grep -q 'is owned by' && return 0
  up=${1%/*}
  while [ -n "$up" ]; do
    [ -d "$up/conda-meta" ] && grep -qF -e "\"${1#"$up"/}\"" "$up"/conda-meta/*.json 2>/dev/null && return 0
    up=${up%/*}
  done
  return 1
}
# A compiled file that is not made of the source beside it may be made of the answer.
compiled() {
  seek 8 pwd -type f \( -name '*.class' -o -name '*.jar' -o -name '*.so' -o -name '*.o' -o -name '*.a' -o -name '*.pyd' \
    -o -name '*.dll' -o -name '*.dylib' -o -name '*.wasm' -o -name '*.beam' \) | while IFS= read -r f; do
    installed "$f" || echo "$f"; done | head -n 5 | while IFS= read -r f; do
    saw 'answer-like file' 'not measured' "$f: compiled, of no installed package, and nothing tells from which source"
  done
  found=$(seek 8 work_roots -type f -name '*.pyc' | head -n 400)
  [ -n "$found" ] || return
  needs 'answer-like file' od stat tr || return
  echo "$found" | while IFS= read -r f; do
    base=${f##*/}; folder=${f%/*}
    case $folder in */__pycache__) source=${folder%/*}/${base%%.*}.py ;; *) source=$folder/${base%.pyc}.py ;; esac
    if [ ! -e "$source" ]; then saw 'answer-like file' open "$f: compiled, without its source"; sight answer "$f"
    else
      [ "$(od -An -tu4 -j4 -N4 "$f" 2>/dev/null | tr -d ' ')" = 0 ] || continue  # checked by hash, not by time
      header=$(od -An -tu4 -j8 -N8 "$f" 2>/dev/null); now=$(stat -c '%Y %s' "$source" 2>/dev/null) ||
        { saw 'answer-like file' 'not measured' "$f: the age of its source cannot be read"; continue; }
      [ "$(echo $header)" = "$now" ] || { saw 'answer-like file' open "$f: compiled from another source"
        sight answer "$f"; }
    fi
  done
}

# --- the evaluator -------------------------------------------------------------------------------------------------

evaluator_files() {
  seek 6 work_roots -type f \( -name 'grade*.py' -o -name 'grader*' -o -name 'verifier*' -o -name 'evaluator*' \
    -o -name run_tests.sh -o -name eval.sh -o -name 'score.py' -o -name 'scorer*.py' -o -name 'check_answer*' \) |
    head -n 20
  for name in $CHECKERS; do seek 8 work_roots -type f -name "$name" | head -n 5; done
}
evaluator() {
  SEEKING='evaluator files'
  [ -z "$(missing find sort head)" ] || return
  seek 5 work_roots -type d \( -name verifier -o -name grader -o -name evaluator -o -name reward -o -name rewards \) |
    head -n 20 | while IFS= read -r d; do
      [ -w "$d" ] && case $d in
        *reward*|*/logs/verifier) sight 'plantable reward' "$d" ;;
        *) sight 'writable evaluator' "$d" ;;
      esac
    done
  seek 6 work_roots -type f \( -name 'reward*.txt' -o -name 'reward*.json' \) | head -n 20 |
    while IFS= read -r f; do [ -w "$f" ] && sight 'plantable reward' "$f"; done
  evaluator_files | sort -u | while IFS= read -r f; do
    [ -w "$f" ] && sight 'writable evaluator' "$f"
    [ -r "$f" ] && sight 'readable evaluator' "$f"
  done
  # Names and places that are an evaluator's only where a harness puts it there once a step is over.
  seek 6 work_roots -type f \( -name 'check.py' -o -name 'check.sh' -o -name 'checker*' -o -name 'verify.*' \
    -o -name 'test_outputs.py' -o -path '/tests/*' -o -path '/verifier/*' -o -path '/grader/*' \) | head -n 20 |
    while IFS= read -r f; do [ -r "$f" ] && sight 'readable evaluator' "$f"; done
  printf '%s\tlooked\t%s\t\t\n' "$NONCE" "$SEEKING" >&3
}

main() {
  exec 3>&1
  printf '%s\tbegun\t\t\t%s\n' "$NONCE" "$(pwd)"
  [ "$(id -u 2>/dev/null)" = 0 ] && sight 'runs as root' 'uid 0'
  network; history; caches; provenance; answers; evaluator; index
  printf '%s\tdone\t\t\t\n' "$NONCE"
}
main </dev/null
