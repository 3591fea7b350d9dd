#!/bin/sh
# Starts a broker whose properties are the environment: KAFKA_LOG_DIRS is log.dirs.
set -euf
env | sed -n 's/^KAFKA_//p' | while IFS='=' read -r name value; do
  echo "$(echo "$name" | tr 'A-Z_' 'a-z.')=$value"
done >/tmp/server.properties
java="java -Xms128m -Xmx384m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp /opt/kafka/libs/*"
$java kafka.tools.StorageTool format --ignore-formatted -t "$CLUSTER_ID" -c /tmp/server.properties
exec $java kafka.Kafka /tmp/server.properties
