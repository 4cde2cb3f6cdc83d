/* SPDX-License-Identifier: Apache-2.0 */
/* json_tree.h: a file of docs/vectors as a tree, for the tests that replay it. Read with libyaml, since JSON as our
 * writer makes it is YAML; whatever is missing fails the test. */
#ifndef TESTS_VECTORS_JSON_TREE_H
#define TESTS_VECTORS_JSON_TREE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

static yaml_document_t tree;

static inline yaml_node_t *tree_open(const char *name) {
    const char *source = getenv("CAUCUS_SOURCE");
    char path[512];
    yaml_parser_t parser;
    (void)snprintf(path, sizeof path, "%s/docs/vectors/%s", source ? source : ".", name);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    assert_true(yaml_parser_initialize(&parser));
    yaml_parser_set_input_file(&parser, in);
    assert_true(yaml_parser_load(&parser, &tree));
    yaml_parser_delete(&parser);
    assert_int_equal(fclose(in), 0);
    return yaml_document_get_root_node(&tree);
}

static inline void tree_close(void) {
    yaml_document_delete(&tree);
}

/* NULL: the object has no such member. */
static inline yaml_node_t *find(const yaml_node_t *object, const char *key) {
    assert_int_equal(object->type, YAML_MAPPING_NODE);
    for (const yaml_node_pair_t *p = object->data.mapping.pairs.start; p < object->data.mapping.pairs.top; p++)
        if (strcmp((const char *)yaml_document_get_node(&tree, p->key)->data.scalar.value, key) == 0)
            return yaml_document_get_node(&tree, p->value);
    return NULL;
}

static inline yaml_node_t *get(const yaml_node_t *object, const char *key) {
    yaml_node_t *node = find(object, key);
    if (node == NULL)
        fail_msg("no member %s", key);
    return node;
}

static inline size_t length(const yaml_node_t *list) {
    assert_int_equal(list->type, YAML_SEQUENCE_NODE);
    return (size_t)(list->data.sequence.items.top - list->data.sequence.items.start);
}

static inline yaml_node_t *at(const yaml_node_t *list, size_t i) {
    assert_true(i < length(list));
    return yaml_document_get_node(&tree, list->data.sequence.items.start[i]);
}

static inline const char *text(const yaml_node_t *node) {
    assert_int_equal(node->type, YAML_SCALAR_NODE);
    return (const char *)node->data.scalar.value;
}

static inline const char *text_of(const yaml_node_t *object, const char *key) {
    return text(get(object, key));
}

static inline uint64_t whole(const yaml_node_t *node) {
    char *end;
    uint64_t value = strtoull(text(node), &end, 10);
    assert_true(end != text(node) && *end == '\0');
    return value;
}

static inline uint64_t whole_of(const yaml_node_t *object, const char *key) {
    return whole(get(object, key));
}

static inline double real(const yaml_node_t *node) {
    char *end;
    if (strcmp(text(node), "null") == 0)
        return strtod("nan", NULL);
    double value = strtod(text(node), &end);
    assert_true(end != text(node) && *end == '\0');
    return value;
}

/* Bytes of hexadecimal digits. */
static inline size_t bytes_of(const yaml_node_t *object, const char *key, uint8_t *ret, size_t room) {
    const char *hex = text_of(object, key);
    size_t n = strlen(hex) / 2;
    assert_true(n <= room && strlen(hex) == 2 * n);
    for (size_t i = 0; i < n; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        ret[i] = (uint8_t)byte;
    }
    return n;
}

#endif
