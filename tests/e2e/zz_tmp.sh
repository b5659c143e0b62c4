. "$(dirname "$0")/lib.sh"
. /work/main/tests/e2e/fifo.inc
serve server 127.0.0.1:0 eof
start_fifo -e frame --lossless -u "127.0.0.1:$SERVER_PORT"
send_frames 900000
sleep 4
kill -USR1 $TAP_PID; sleep 1; kill -USR1 $TAP_PID; sleep 0.3; cat $DIR/tap.log; grep -E 'State|VmRSS' /proc/$TAP_PID/status
start_reading
sleep 3
ls -la $DIR
kill -USR1 $TAP_PID; sleep 1; cat $DIR/tap.log; 
gdb -p $TAP_PID -batch -ex 'thread apply all bt 6' 2>/dev/null | grep -E '^#|^Thread' 
