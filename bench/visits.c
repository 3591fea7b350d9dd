// cc -O2 -o visits bench/visits.c && ./visits 127.0.0.1 PORT ALIASES RATE SECONDS [CONNECTIONS]
// Visits random ones of /a0, /a1, … for some seconds and prints the visits and their latencies in µs as JSON. It is written in C because it has
// to share two cores with the server that it measures: a visit costs it 10 to 20 µs, autocannon 40 to 60.
// With a rate it is an open loop: a visit is due at its moment, whether or not the server has answered those before, and its latency counts from
// then. With the rate 0, each connection sends its next visit when it has the answer to the last.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { most_connections = 1024, most_bytes = 8192 };

struct connection {
  int fd;
  double due; // when its last visit was due
  int length;
  char text[most_bytes];
};

static struct connection connections[most_connections];
// a ring: each connection is used again and again, or the server closes it
static int idle[most_connections];
static int idle_first, idle_count;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static void rest(int connection) { idle[(idle_first + idle_count++) % most_connections] = connection; }
static int next(void) {
  int connection = idle[idle_first];
  idle_first = (idle_first + 1) % most_connections;
  idle_count--;
  return connection;
}

static void fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(1);
}

static void visit(struct connection *connection, double due, const char *host, int port, int aliases) {
  char request[512];
  int length = snprintf(request, sizeof request,
                        "GET /a%ld HTTP/1.1\r\nhost: %s:%d\r\nuser-agent: Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 "
                        "(KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36\r\n\r\n",
                        random() % aliases, host, port);
  connection->due = due;
  connection->length = 0;
  if (write(connection->fd, request, length) != length) fail("write");
}

/** Reads what has come; returns 1 when the answer is whole. */
static int answered(struct connection *connection) {
  int space = most_bytes - 1 - connection->length;
  ssize_t count = read(connection->fd, connection->text + connection->length, space);
  if (count < 0 && errno == EAGAIN) return 0;
  if (count <= 0) fail("the server has closed a connection");
  connection->length += count;
  connection->text[connection->length] = 0;
  char *end = strstr(connection->text, "\r\n\r\n");
  if (!end) return 0;
  char *length = strcasestr(connection->text, "\r\ncontent-length:");
  int body = length ? atoi(length + 17) : 0;
  if (connection->length < end + 4 - connection->text + body) return 0;
  if (strncmp(connection->text, "HTTP/1.1 302", 12) != 0) {
    fprintf(stderr, "unexpected: %.100s\n", connection->text);
    exit(1);
  }
  return 1;
}

static int by_size(const void *a, const void *b) {
  float difference = *(const float *)a - *(const float *)b;
  return difference < 0 ? -1 : difference > 0;
}

int main(int count, char **values) {
  if (count < 6) {
    fprintf(stderr, "visits ADDRESS PORT ALIASES RATE SECONDS [CONNECTIONS]\n");
    return 2;
  }
  const char *host = values[1];
  int port = atoi(values[2]), aliases = atoi(values[3]);
  double rate = atof(values[4]), seconds = atof(values[5]);
  int connected = count > 6 ? atoi(values[6]) : 64;
  if (connected > most_connections) connected = most_connections;

  int poll = epoll_create1(0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  inet_pton(AF_INET, host, &address.sin_addr);
  for (int i = 0; i < connected; i++) {
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connections[i].fd = fd;
    rest(i);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
    epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
  }

  long space = 1 << 20, visits = 0, sent = 0;
  float *latencies = malloc(space * sizeof *latencies);
  double began = now(), end = began + seconds * 1e6, last = began;
  long planned = (long)(rate * seconds);
  srandom(7);
  for (;;) {
    double at = now();
    int sending = rate > 0 ? sent < planned : at < end;
    if (!sending && idle_count == connected) break;
    while (idle_count > 0) {
      double due = rate > 0 ? began + sent * 1e6 / rate : at;
      if (rate > 0 ? sent >= planned || due > at : at >= end) break;
      sent++;
      visit(&connections[next()], due, host, port, aliases);
    }
    struct epoll_event events[256];
    int ready = epoll_wait(poll, events, 256, rate > 0 && idle_count > 0 ? 1 : 100);
    for (int i = 0; i < ready; i++) {
      struct connection *connection = &connections[events[i].data.u32];
      if (!answered(connection)) continue;
      last = now();
      if (visits == space) latencies = realloc(latencies, (space *= 2) * sizeof *latencies);
      latencies[visits++] = last - connection->due;
      rest(events[i].data.u32);
    }
  }
  qsort(latencies, visits, sizeof *latencies, by_size);
  printf("{\"visits\":%ld,\"perSecond\":%.0f,\"p50\":%.0f,\"p99\":%.0f,\"max\":%.0f}\n", visits, visits / ((last - began) / 1e6),
         latencies[visits / 2], latencies[visits * 99 / 100], latencies[visits - 1]);
  return 0;
}
